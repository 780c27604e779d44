package commandline

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
	for _, p := range parts {
		ok := p.end <= named
		switch p.kind {
		case textPart, subcommandPart:
			ok = true
		case commandPart:
			ok = p.at < named && plain(list[p.at:p.end], named-p.at, inside)
		case codePart:
			ok = ok || plainCode(name, p.value.Text)
		case settingPart:
			ok = ok || plainSetting(name, p.value.Text)
		case writtenPart:
			ok = ok || inside(p.value.Text)
		case inputPart:
			ok = p.flag == "CODEIN" || p.flag == "STDIN" && named > 1
		}
		if !ok {
			return false
		}
	}
	return true
}
