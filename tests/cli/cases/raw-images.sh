# SPDX-License-Identifier: MIT
# Compiled kernels, as files.
. "$CASE_LIB"
cat >fill.ptx <<'END'
.version 6.3
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 out, .param .u32 value)
{
    .reg .b32 %r<3>;
    .reg .b64 %rd<5>;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [value];
    cvta.to.global.u64 %rd2, %rd1;
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd3, %r2, 4;
    add.s64 %rd4, %rd2, %rd3;
    st.global.u32 [%rd4], %r1;
    ret;
}
END
damaged() {
    try quern raw "$1" --kernel fill --grid 1 --block 1 --device soft # a driver has words of its own
}
fill() {
    try quern raw fill.ptx --grid 1 --block 4 "$@"
}
fill --kernel fill empty:int32:4:- int32:-7
fill --kernel fil empty:int32:4:- int32:-7
fill --kernel fill empty:int32:4:- int64:-7
fill --kernel 'fill<int>' empty:int32:4:- int32:-7
quern raw fill.ptx --kernel fill --show-source | cmp - fill.ptx
echo '.version 6.3 .target' >bad.ptx
damaged bad.ptx
: >empty.cubin
damaged empty.cubin
{ # the head of a cubin for sm_90
    printf '\177ELF\002\001\001\063\007\000\000\000\000\000\000\000\002\000\276\000\001\000\000\000'
    head -c 24 /dev/zero
    printf '\132\005\132\000'
    head -c 200 /dev/zero
} >other.cubin
damaged other.cubin
{
    printf '\120\355\125\272\001\000\020\000\100\000\000\000\000\000\000\000'
    head -c 80 /dev/zero
} >cut.fatbin
damaged cut.fatbin
damaged nowhere.cubin
damaged .
