#!/bin/sh
# Installs Deskbell for one user, without root: into ~/.local, or where PREFIX says.
#   ./install.sh               installs, or puts this version in the place of another
#   ./install.sh --uninstall   stops it, takes it out of the settings of your clients, and removes what it installed; requests,
#                              answers and recordings stay
set -eu
prefix=${PREFIX:-$HOME/.local}
own=$prefix/lib/deskbell # not share/deskbell: the data is there
here=$(cd "$(dirname "$0")" && pwd)

refresh() {
  if command -v update-desktop-database >/dev/null 2>&1; then update-desktop-database -q "$prefix/share/applications" 2>/dev/null || true; fi
  if command -v gtk-update-icon-cache >/dev/null 2>&1 && [ -f "$prefix/share/icons/hicolor/index.theme" ]; then
    gtk-update-icon-cache -qf "$prefix/share/icons/hicolor" 2>/dev/null || true
  fi
}

# remove takes away the files that are on the list of an earlier installation, and the folders that are then empty.
remove() {
  [ -f "$own/installed" ] || return 0
  while IFS= read -r file; do rm -f "$prefix/$file"; done <"$own/installed"
  sed 's,/[^/]*$,,' "$own/installed" | sort -ru | while IFS= read -r dir; do
    (cd "$prefix" && rmdir -p "$dir" 2>/dev/null) || true
  done
  rm -f "$own/installed" "$own/install.sh"
  (cd "$prefix" && rmdir -p lib/deskbell 2>/dev/null) || true
}

case ${1:-} in
  "") ;;
  --uninstall)
    [ -f "$own/installed" ] || { echo "Deskbell is not installed in $prefix" >&2; exit 1; }
    # As `deskbell uninstall` does. It asks at a terminal, and otherwise does it where Deskbell does not run.
    yes=--yes
    if [ -t 0 ] && [ -t 2 ]; then yes=; fi
    code=0
    "$prefix/bin/deskbell" uninstall --by-uninstaller $yes || code=$?
    case $code in # 0: done; 2: in part, which it said; 126 and more: it cannot start here
      1 | 3) echo "Deskbell is not removed." >&2; exit 1 ;;
    esac
    remove
    refresh
    # The index of no programs at all.
    if [ -z "$(ls "$prefix/share/applications" 2>/dev/null | grep -v '^mimeinfo.cache$')" ]; then rm -rf "$prefix/share/applications"; fi
    echo "Deskbell is removed from $prefix. Your requests, answers and recordings are still in ${XDG_DATA_HOME:-$HOME/.local/share}/deskbell."
    exit ;;
  *) sed -n '2,5s/^# //p' "$0" >&2; exit 2 ;;
esac

remove
mkdir -p "$prefix" "$own"
(cd "$here" && find bin share -type f ! -path 'share/polkit-1/*') | sort >"$own/installed"
while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  rm -f "$prefix/$file" # a program that runs keeps its own
  cp "$here/$file" "$prefix/$file"
done <"$own/installed"
cp "$here/install.sh" "$own/install.sh"
# Quoted only where it must be: xdg-open, where no desktop environment runs, takes quotes as part of the name, and opens no link.
case $prefix in *[!A-Za-z0-9/._+@-]*) program="\"$prefix/bin/deskbell\"" ;; *) program=$prefix/bin/deskbell ;; esac
sed -i "s,^Exec=deskbell,Exec=$program," "$prefix/share/applications/deskbell.desktop"
refresh

echo "Deskbell is installed: $prefix/bin/deskbell"
case :$PATH: in *":$prefix/bin:"*) ;; *) echo "$prefix/bin is not in your PATH. Add this to ~/.profile:  export PATH=\"$prefix/bin:\$PATH\"" ;; esac
if command -v ldd >/dev/null 2>&1; then
  missing=$(ldd "$prefix/bin/deskbell" 2>/dev/null | awk '/not found/ { printf "%s ", $1 }')
  [ -z "$missing" ] || echo "It cannot start yet; this system lacks: $missing(packages of GTK 3 and WebKitGTK 4.1)"
fi
echo "To confirm dangerous answers with your system password, also run:"
echo "  sudo cp '$here/share/polkit-1/actions/dev.deskbell.presence.policy' /usr/share/polkit-1/actions/"
echo "To remove Deskbell: $own/install.sh --uninstall"
