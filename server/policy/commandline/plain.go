package commandline

import "strings"

// Plain reports whether a command of literal words neither runs another program nor writes a file
// for which inside is false, apart from what its first named words say. A command of a program that
// the table does not have is plain.
func Plain(list []string, named int, inside func(path string) bool) bool {
	return plain(known(list...), named, inside)
}

func plain(list []Word, named int, inside func(path string) bool) bool {
	if len(list) == 0 {
		return true
	}
	parts, _ := scan(list)
	name := program(list[0])
	if evaluates(name, list[min(max(named, 1), len(list)):]) {
		return false
	}
	for _, p := range parts {
		ok := p.end <= named
		switch p.kind {
		case textPart, subcommandPart, listPart:
			ok = ok || !takesBang(name) || !strings.HasPrefix(p.value.Text, "!")
		case commandPart:
			ok = ok || p.before == "" && p.at < named && plain(list[p.at:p.end], named-p.at, inside)
		case codePart:
			ok = ok || plainCode(name, p.value.Text)
		case settingPart:
			ok = ok || plainSetting(name, p.value.Text)
		case writtenPart, changedPart:
			ok = ok || inside(p.value.Text) && !strings.ContainsAny(p.value.Text, ":|!") // another machine, or a pipe
		case inputPart:
			ok = p.flag == "CODEIN" || p.flag == "STDIN" && named > 1
		}
		if !ok {
			return false
		}
	}
	return true
}
