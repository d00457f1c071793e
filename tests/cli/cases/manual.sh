# SPDX-License-Identifier: MIT
# The examples of the man page run, over files like those that they name.
root=${CASE_LIB%/*}/../..
mkdir files
{
    quern elementwise '' 'float32 y' 'y = i' y=empty:float32:3x4:files/a.npy
    quern elementwise '' 'float32 y' 'y = i' y=empty:float32:3:files/b.npy
    quern elementwise '' 'float32 y' 'y = i' y=empty:float32:1000:files/x.npy
    quern elementwise '' 'int32 y' 'y = i % 256' y=empty:int32:1000:files/labels.npy
} >/dev/null
cp files/x.npy files/y.npy
cp "$root/bench/kernels/saxpy.cu" files

awk '/^\.SH EXAMPLES/ { on = 1 }
     on && /^quern / || more {
         more = sub(/\\e$/, "")
         printf "%s%s", $0, more ? "" : "\n"
     }' "$root/docs/quern.1" >examples
while IFS= read -r example; do
    echo "$example"
    cp -r files folder
    (cd folder && eval "$example" 2>&1 </dev/null)
    LC_ALL=C diff -q files folder | sed 's/^Files.* and folder.\(.*\) differ$/changed: \1/; s/^Only in folder: /made: /'
    rm -rf folder
done <examples
