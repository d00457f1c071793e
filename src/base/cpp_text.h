/* SPDX-License-Identifier: MIT
 *
 * cpp_text: the tokens of C++ text, for code that inspects what users write without parsing it.
 */
#ifndef QN_CPP_TEXT_H
#define QN_CPP_TEXT_H

#include "base/base.h"

typedef enum qn_cpp_kind {
    QN_CPP_END,
    QN_CPP_WORD, /**< a name or a keyword */
    QN_CPP_NUMBER,
    QN_CPP_LITERAL, /**< a string or a character constant */
    QN_CPP_MARK,    /**< any other character; "&&" is one mark */
} qn_cpp_kind;

typedef struct qn_cpp_token {
    qn_cpp_kind kind;
    bool closed; /**< false: this literal, or the comment that ends the text, has no end */
    qn_str text; /**< empty at the end of the text, or that comment */
} qn_cpp_token;

/** Can this byte be part of a word? Bytes beyond ASCII count as letters. */
bool qn_is_word(char c);
/** Cut the next token off *rest, with the white space and the comments in front of it. *rest must
 * not begin inside a comment or a literal. */
qn_cpp_token qn_cpp_next(qn_str *rest);
/** `text` without the white space and the comments that it begins with. */
qn_str qn_cpp_skip_blank(qn_str text);
/** `text` without the comment that it begins with, if it does. */
qn_str qn_cpp_skip_comment(qn_str text);
/** `text` from the end of its first line on: a backslash there joins the next line to it. */
qn_str qn_cpp_skip_line(qn_str text);

#endif /* QN_CPP_TEXT_H */
