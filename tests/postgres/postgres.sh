#!/bin/sh
# SPDX-License-Identifier: MIT
# postgres.sh start|kill|restart|stop FILE: controls a private PostgreSQL server for the tests, which listens only on a
# socket. FILE contains the server's folder. If the caller is root, the server runs as an unprivileged account. start
# creates the server with an empty database; kill stops it without a shutdown, as in a power failure; restart starts it
# again; stop stops and deletes it. `postgres.sh connection FILE` prints an ODBC connection string, `postgres.sh socket
# FILE` the folder for psql -h.
set -eu
verb=$1
file=$2

as_owner() {
    if [ "$(id -u)" -eq 0 ]; then
        setpriv --reuid "$account" --regid "$(id -g "$account")" --clear-groups --reset-env "$@"
    else
        "$@"
    fi
}

server() {
    # The server must not inherit the caller's descriptors.
    (cd "$folder" && as_owner "$bin/pg_ctl" -s -w -D "$folder/data" -l "$folder/log" "$@") </dev/null >&2 3>&- 4>&- 5>&- \
        6>&- 7>&- 8>&- 9>&-
}

account=postgres
id "$account" >/dev/null 2>&1 || account=nobody
for bin in /usr/lib/postgresql/*/bin; do :; done
[ "$verb" = start ] || folder=$(cat "$file")
case $verb in
start)
    if [ -e "$file" ]; then
        sh "$0" stop "$file" || true
    fi
    folder=$(mktemp -d /tmp/openpla-pg.XXXXXX)
    echo "$folder" >"$file"
    [ "$(id -u)" -ne 0 ] || chown "$account" "$folder"
    chmod 755 "$folder"
    (cd "$folder" && as_owner "$bin/initdb" -D "$folder/data" -U test --auth=trust -E UTF8 --locale=C.UTF-8 --no-sync) \
        >/dev/null
    server -o "-c listen_addresses= -c unix_socket_directories=$folder -c fsync=off" start
    ;;
kill)
    server -m immediate stop
    ;;
restart)
    server -o "-c listen_addresses= -c unix_socket_directories=$folder -c fsync=off" start
    ;;
stop)
    server -m immediate stop || true
    rm -rf "$folder"
    rm -f "$file"
    ;;
connection)
    echo "Driver={PostgreSQL Unicode};Servername=$folder;Port=5432;Database=postgres;UID=test"
    ;;
socket)
    echo "$folder"
    ;;
esac
