package patch

import "strings"

// comparisons are the ways to compare lines, the strictest first.
var comparisons = []func(string) string{
	func(line string) string { return line },
	func(line string) string { return strings.TrimRight(line, " \t\r") },
	strings.TrimSpace,
	func(line string) string { return strings.TrimSpace(ascii.Replace(line)) },
}

// ascii replaces typographic characters by those of a keyboard.
var ascii = strings.NewReplacer(
	"\u2010", "-", "\u2011", "-", "\u2012", "-", "\u2013", "-", "\u2014", "-", "\u2015", "-", "\u2212", "-",
	"\u2018", "'", "\u2019", "'", "\u201a", "'", "\u201b", "'",
	"\u201c", `"`, "\u201d", `"`, "\u201e", `"`, "\u201f", `"`,
	"\u00a0", " ", "\u2002", " ", "\u2003", " ", "\u2004", " ", "\u2005", " ", "\u2006", " ", "\u2007", " ",
	"\u2008", " ", "\u2009", " ", "\u200a", " ", "\u202f", " ", "\u205f", " ", "\u3000", " ", "\ufeff", "",
)
