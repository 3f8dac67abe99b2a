#!/bin/sh
# The files that were created, changed, renamed, deleted, uploaded and downloaded, as a changelog. It reads one
# operation on standard input and writes a report to standard output (see docs/summarizers), with nothing but what
# POSIX has: awk reads the JSON. Texts keep the escapes of the input, which are right in the output, too.
set -eu

LC_ALL=C
export LC_ALL

cat >input.json

# Every value on a line of its own: its path, a tab, and the value as it stands in the JSON.
awk '
function fail(why) { print "not the JSON that was expected: " why > "/dev/stderr"; failed = 1; exit 1 }
function more(   piece) {
	if ((getline piece) <= 0) return 0
	rest = rest "," piece
	return 1
}
function next_token() {
	sub(/^[ \t\r\n,]+/, "", rest)
	while (rest == "") {
		if (!more()) return ""
		sub(/^[ \t\r\n,]+/, "", rest)
	}
	while (rest ~ /^"/ && !match(rest, /^"([^"\\]|\\.)*"/)) if (!more()) fail("a text without an end")
	if (match(rest, /^"([^"\\]|\\.)*"/) || match(rest, /^[-+0-9.eE]+/) || match(rest, /^(true|false|null)/) || match(rest, /^[][{}:]/)) {
		token = substr(rest, 1, RLENGTH)
		rest = substr(rest, RLENGTH + 1)
		return token
	}
	fail(substr(rest, 1, 20))
}
function value(path, first,   key, n) {
	if (first == "{") {
		for (first = next_token(); first != "}"; first = next_token()) {
			key = substr(first, 2, length(first) - 2)
			if (next_token() != ":") fail("no colon")
			value(path "/" key, next_token())
		}
	} else if (first == "[") {
		n = 0
		for (first = next_token(); first != "]"; first = next_token()) value(path "/" n++, first)
	} else if (first == "") {
		fail("it ends too early")
	} else {
		print path "\t" first
	}
}
# Read from comma to comma, since the JSON is one long line; a text with commas in it is put together again.
BEGIN { RS = ","; value("", next_token()); if (failed) exit 1 }
' input.json >values

awk -F '\t' '
BEGIN {
	en["created"] = "Created"; zh["created"] = "新建"
	en["changed"] = "Changed"; zh["changed"] = "修改"
	en["renamed"] = "Renamed"; zh["renamed"] = "改名"
	en["deleted"] = "Deleted"; zh["deleted"] = "删除"
	en["upload"] = "Uploaded"; zh["upload"] = "上传"
	en["download"] = "Downloaded"; zh["download"] = "下载"
}
function text(v) { return substr(v, 2, length(v) - 2) }
$1 == "/language" { chinese = (text($2) == "zh-CN") }
$1 ~ /^\/recordings\/[0-9]+\/recording_id$/ { split($1, at, "/"); id[at[3]] = $2 }
$1 ~ /^\/recordings\/[0-9]+\/actions\/[0-9]+\// {
	split($1, at, "/")
	key = at[3] "/" at[5]
	field = substr($1, length("/recordings//actions//") + length(at[3]) + length(at[5]) + 1)
	if (field == "action_id") { order[++n] = key; recording[key] = at[3]; action[key] = $2 }
	if (field == "type") type[key] = text($2)
	if (field == "file/op") op[key] = text($2)
	if (field == "file/path" || field == "transfers/0/name") path[key] = text($2)
	if (field == "file/to") to[key] = text($2)
}
END {
	for (i = 1; i <= n; i++) {
		key = order[i]
		what = op[key]
		if (type[key] == "upload" || type[key] == "download") what = type[key]
		if (!(what in en) || path[key] == "") continue
		name = path[key]
		if (to[key] != "") name = name " → " to[key]
		if (length(name) > 400) continue
		said = (chinese ? zh[what] : en[what]) " " name
		if (seen[said]++) continue
		count++
		if (length(list) + length(said) < 3000) list = list (list == "" ? "" : "\\n") said
		if (count > 40) continue
		findings = findings (findings == "" ? "" : ",") "{\"kind\":\"done\",\"text\":\"" said "\",\"evidence\":[{\"kind\":\"action\",\"recording_id\":" id[recording[key]] ",\"id\":" action[key] "}],\"confidence\":1}"
	}
	if (count == 0) line = chinese ? "没有改动文件" : "No files were touched"
	else line = chinese ? "有文件改动，按先后列出" : "Files were touched, in this order"
	printf "{\"line\":\"%s\",\"text\":\"%s\",\"findings\":[%s],\"suggestions\":[]}\n", line, (list == "" ? line : list), findings
}
' values
