#!/bin/sh
# Prints the path of another kernel than the one that runs here: Debian's for virtual machines, taken out of its package
# into $O/vm with two modules beside it, never installed. Exit status 77: none can be had, and why.
set -u
O=${O:-build}
none() { echo "$*"; exit 77; }

for program in apt-cache apt-get dpkg; do
  command -v $program > /dev/null || none "no $program"
done
arch=$(dpkg --print-architecture)
[ "$arch" = amd64 ] || none "the emulator is started for amd64, not $arch"
package=$(apt-cache depends linux-image-cloud-amd64 2> /dev/null |
  sed -n 's/.*Depends: \(linux-image-[0-9].*-cloud-amd64\)$/\1/p' | sort -V | tail -n 1)
[ -n "$package" ] || none "apt knows no linux-image-cloud-amd64"
version=${package#linux-image-}
[ "$version" != "$(uname -r)" ] || none "the kernel that could be had, $version, runs here"

mkdir -p "$O/vm" || exit 1
folder=$(cd "$O/vm" && pwd)/kernel-$version
if [ ! -d "$folder" ]; then
  tmp=$(mktemp -d "$O/vm/package-XXXXXX") || exit 1
  trap 'rm -rf "$tmp"' EXIT
  (cd "$tmp" && timeout 300 apt-get -qq download "$package" > /dev/null 2>&1) || none "$package cannot be fetched"
  dpkg -x "$tmp"/*.deb "$tmp/files" || none "$package cannot be unpacked"
  mkdir "$tmp/kernel"
  mv "$tmp/files/boot/vmlinuz-$version" "$tmp/kernel/vmlinuz" || none "$package holds no kernel"
  find "$tmp/files" \( -name fuse.ko -o -name loop.ko \) -exec mv '{}' "$tmp/kernel/" ';'
  mv "$tmp/kernel" "$folder" || exit 1
fi
echo "$folder/vmlinuz"
