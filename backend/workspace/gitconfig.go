package workspace

import "strings"

// parseConfig reads settings in the plain form in which git writes them: a section alone on its line, one setting a line. ok
// is false for anything else that git may read in its own way: quotes, escapes, comments after a value, lines that continue.
func parseConfig(text string) (set map[string]string, ok bool) {
	set = map[string]string{}
	section := ""
	if strings.ContainsAny(text, "\r\x00\\") {
		return nil, false
	}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.Trim(line, " \t")
		switch {
		case line == "" || line[0] == '#' || line[0] == ';':
		case line[0] == '[':
			inner, found := strings.CutSuffix(line[1:], "]")
			name, sub, quoted := strings.Cut(inner, " ")
			if !found || !keyed(name) {
				return nil, false
			}
			section = strings.ToLower(name) + "."
			if quoted {
				if len(sub) < 2 || sub[0] != '"' || sub[len(sub)-1] != '"' || strings.Contains(sub[1:len(sub)-1], `"`) {
					return nil, false
				}
				section += sub[1:len(sub)-1] + "."
			}
		default:
			name, value, found := strings.Cut(line, "=")
			name, value = strings.TrimRight(name, " \t"), strings.TrimLeft(value, " \t")
			if !found || section == "" || !keyed(name) || name[0] < 'A' || strings.ContainsAny(value, "\"#;\t\v\f") || strings.Contains(value, "  ") {
				return nil, false
			}
			set[section+strings.ToLower(name)] = value
		}
	}
	return set, true
}

// keyed says whether a name may be a section's or a setting's: letters, digits and hyphens, a letter or a digit first.
func keyed(name string) bool {
	for _, c := range []byte(name) {
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || c == '-' {
			continue
		}
		return false
	}
	return name != "" && name[0] != '-'
}

// flag is a setting that is true or false; ok is false for a value that is neither.
func flag(set map[string]string, key string, otherwise bool) (is, ok bool) {
	value, found := set[key]
	switch strings.ToLower(value) {
	case "true", "yes", "on", "1":
		return true, true
	case "false", "no", "off", "0":
		return false, true
	}
	return otherwise, !found
}
