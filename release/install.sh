#!/bin/sh
# Installs cmemd from its release: fetches the archive for this system, checks it against the release's checksums, and puts the programs
# into a folder. Nothing is installed unless all of it is as it should be; what was installed before is replaced in one step each.
#
#   install.sh [--version X.Y.Z] [--to FOLDER] [--from URL] [--hub]
#
#   --version   a release (default: the latest one)
#   --to        where the programs go (default: ~/.local/bin)
#   --hub       also cmemd-hub, the store for several machines; where it is installed already it is brought too
#   --from      where the files of a release are: https://..., or a folder (default: the project's releases)
set -eu

releases=https://github.com/cmemd/cmemd/releases

main() { # in a function, so that a script that was cut on its way does nothing
  version='' to='' from='' packages=cmemd
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --to | --from) [ $# -gt 1 ] || die 2 "$1 wants a value" ;;
    esac
    case $1 in
      --version) version=${2#v}; shift 2 ;;
      --to) to=$2; shift 2 ;;
      --from) from=${2%/}; shift 2 ;;
      --hub) packages='cmemd cmemd-hub'; shift ;;
      -h | --help) echo 'usage: install.sh [--version X.Y.Z] [--to FOLDER] [--from URL] [--hub]'; exit 0 ;;
      *) die 2 "$1 is no option; usage: install.sh [--version X.Y.Z] [--to FOLDER] [--from URL] [--hub]" ;;
    esac
  done
  [ -n "$to${HOME:-}" ] || die 2 'HOME is not set: name a folder by --to'
  [ -n "$to" ] || to=$HOME/.local/bin
  if [ -z "$from" ]; then
    from=$releases/latest/download
    [ -z "$version" ] || from=$releases/download/v$version
  fi
  case $from in
    *://*@*) die 2 "--from $from: an address with an @ is not taken: what stands before it is no host" ;;
    https://* | http://127.0.0.1:* | http://localhost:* | /*) ;;
    *) die 2 "--from $from: only https://, or a folder from the root, is taken: on a plain connection anybody could change the files" ;;
  esac
  need tar; need mktemp; need uname
  system=$(system)
  case $to in /*) ;; *) to=./$to ;; esac
  mkdir -p "$to" && to=$(cd "$to" && pwd) || die 1 "$to cannot be made: name another folder by --to"
  # Beside the programs, so that they are moved within one file system.
  work=$(mktemp -d "$to/.cmemd-install.XXXXXX") || die 1 "nothing can be written to $to: name another folder by --to"
  trap 'rm -rf "$work"' EXIT
  trap 'exit 1' HUP INT TERM

  [ ! -e "$to/cmemd-hub" ] || packages='cmemd cmemd-hub'
  programs='cmemd-sqlite cmemd-hook cmemd'
  fetch checksums.txt
  for package in $packages; do
    choose
    echo "cmemd: fetching $archive"
    fetch "$archive"
    verify
    tar -xzf "$work/$archive" -C "$work" || die 1 "$archive cannot be unpacked, although it is the release's: is the disk full?"
    if [ "$package" = cmemd ]; then
      unpacked=$work/${archive%.tar.gz}
    else
      mv "$work/${archive%.tar.gz}/$package" "$unpacked/$package"
      programs="$package $programs"
    fi
  done
  said=$("$unpacked/cmemd" version) ||
    die 1 "the program for $system does not run here; $to may be on a disk from which programs are not run"
  place
  say_next
}

die() { # CODE WORDS
  code=$1; shift
  echo "cmemd: $*" >&2
  echo 'cmemd: nothing was installed.' >&2
  exit "$code"
}

need() { command -v "$1" >/dev/null 2>&1 || die 1 "this script needs $1, which is not on PATH"; }

# The system and processor as archives name them.
system() {
  os=$(uname -s) cpu=$(uname -m)
  case $os in
    Linux) os=linux ;;
    Darwin) os=darwin ;;
    *) die 1 "there is no archive for $os that this script can install; on Windows use npm, or the .zip of $releases" ;;
  esac
  case $cpu in
    x86_64 | amd64) cpu=amd64 ;;
    arm64 | aarch64) cpu=arm64 ;;
    *) die 1 "there is no archive for the processor $cpu; with Go it can be built: go install github.com/cmemd/cmemd/cmd/cmemd@latest" ;;
  esac
  # A shell that is translated on Apple silicon is told that it runs on the other processor.
  [ "$os" != darwin ] || [ "$(sysctl -n sysctl.proc_translated 2>/dev/null)" != 1 ] || cpu=arm64
  echo "${os}_$cpu"
}

fetch() { # FILE: puts it into the work folder
  url=$from/$1
  case $from in
    /*) cp "$url" "$work/$1" || die 1 "$url cannot be read" ;;
    *)
      if command -v curl >/dev/null 2>&1; then
        # A transfer that does not move for half a minute is given up.
        curl -fsSL --proto "=${from%%:*}" --proto-redir "=${from%%:*}" --retry 2 --connect-timeout 20 --speed-limit 1 --speed-time 30 \
          -o "$work/$1" "$url" || refetch "$url"
      elif command -v wget >/dev/null 2>&1; then
        by_wget "$work/$1" "$url" || refetch "$url"
      else
        die 1 'this script needs curl or wget, and neither is on PATH'
      fi
      ;;
  esac
}

# By itself wget follows a redirection to a plain connection, on which anybody could change the files.
by_wget() { # FILE URL
  wget --help 2>&1 | grep -q -e --max-redirect || die 1 'this wget would follow a redirection to a plain connection: install curl'
  file=$1 address=$2 redirections=10
  until headers=$(wget -q -S --max-redirect=0 -T 30 -O "$file" "$address" 2>&1); do
    address=$(echo "$headers" | grep -i '^ *location: ') && [ "$redirections" -gt 0 ] || return 1
    address=${address#*: } redirections=$((redirections - 1))
    case $address in
      "${from%%:*}"://*) ;;
      *) return 1 ;;
    esac
  done
}

refetch() { die 1 "$1 could not be fetched whole; try again${https_proxy:+, without the proxy that https_proxy names}, or see $releases"; }

# Finds the archive's name and checksum: one line of the release's list is for this system.
choose() {
  line=$(grep -E "^[0-9a-f]{64}  ${package}_[0-9A-Za-z.+-]+_$system\.tar\.gz\$" "$work/checksums.txt") || line=''
  [ -n "$line" ] ||
    die 1 "checksums.txt from $from names no archive of $package for $system: it is not a release's list (a proxy's page, or another file?)"
  [ "$(echo "$line" | wc -l)" -eq 1 ] || die 1 "checksums.txt from $from names several archives of $package for $system: it is not one release's list"
  expected=${line%% *} archive=${line#*  }
  [ -z "$version" ] || [ "$archive" = "${package}_${version}_$system.tar.gz" ] ||
    die 1 "checksums.txt from $from is of $archive, not of version $version"
}

verify() {
  if command -v sha256sum >/dev/null 2>&1; then
    sum=$(sha256sum <"$work/$archive")
  elif command -v shasum >/dev/null 2>&1; then
    sum=$(shasum -a 256 <"$work/$archive")
  else
    die 1 'this script needs sha256sum or shasum, and neither is on PATH'
  fi
  sum=${sum%% *}
  [ "$sum" = "$expected" ] || die 1 "$archive is not what the release has: its SHA-256 is $sum, and should be $expected.
  It was cut or changed on its way. Try again on another connection; if it stays so, tell the project."
}

# Puts the programs into the folder; cmemd comes last, so that it never finds older ones beside it.
place() {
  for program in $programs; do
    [ ! -d "$to/$program" ] || die 1 "$to/$program is a folder: name another one by --to"
  done
  earlier=''
  [ ! -e "$to/cmemd" ] || earlier=yes
  sync # what is moved into place is whole on the disk, should the power go
  for program in $programs; do
    mv -f "$unpacked/$program" "$to/$program" || die 1 "$to/$program cannot be replaced: is it another user's?"
  done
}

say_next() {
  echo "cmemd: installed into $to: $said"
  case :$PATH: in
    *":$to:"*)
      found=$(command -v cmemd || true)
      [ "$found" = "$to/cmemd" ] || echo "cmemd: but your shell finds $found first: remove that one, or put $to before its folder on PATH"
      ;;
    *) echo "cmemd: $to is not on PATH; add to your shell's start-up file: export PATH=\"$to:\$PATH\"" ;;
  esac
  if [ -n "$earlier" ]; then
    echo 'cmemd: next: cmemd start, which replaces a daemon of the earlier version'
  else
    echo 'cmemd: next: cmemd setup'
  fi
}

main "$@"
