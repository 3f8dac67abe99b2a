#!/bin/sh
# Before the programs go, those of them that run end, for all users: the queue is on disk, and agents are answered after the next start.
set -e
case ${1:-} in
  remove | 0 | "" | *.*) # as dpkg, rpm, nobody, and pacman and apk say it: these with the version
    pids=
    for exe in /proc/[0-9]*/exe; do
      for program in /usr/bin/deskbell /usr/bin/deskbell-hook; do
        [ "$exe" -ef "$program" ] && pids="$pids $(basename "$(dirname "$exe")")"
      done
    done
    [ -z "$pids" ] || kill -TERM $pids 2>/dev/null || true
    for try in 1 2 3 4 5 6 7 8 9 10; do
      [ -z "$pids" ] || ! kill -0 $pids 2>/dev/null || sleep 1
    done
    echo "Deskbell is removed. Each user's requests, answers and recordings are still in ~/.local/share/deskbell."
    echo "Users who did not run 'deskbell uninstall' before still have it in the settings of their coding agents, whose calls are blocked then."
    ;;
esac
exit 0
