package tool

import (
	"html"
	"regexp"
	"strings"
	"sync"
)

// htmlPatterns find markup.
type htmlPatterns struct{ hidden, block, tag, blankLines *regexp.Regexp }

// markup is compiled on first use: few programs fetch pages.
var markup = sync.OnceValue(func() htmlPatterns {
	return htmlPatterns{
		hidden: regexp.MustCompile(
			`(?is)<!--.*?-->|<script\b.*?</script\s*>|<style\b.*?</style\s*>|<svg\b.*?</svg\s*>`),
		block: regexp.MustCompile(
			`(?i)</?(p|div|br|li|tr|h[1-6]|ul|ol|table|section|article|pre|blockquote)\b[^>]*>`),
		tag:        regexp.MustCompile(`<[^>]*>`),
		blankLines: regexp.MustCompile(`[ \t\r]*\n\s*\n\s*`),
	}
})

// plainText returns the text of a page for a model, without tags. It is no parser: what is left of
// broken markup stays.
func plainText(page string) string {
	m := markup()
	page = m.hidden.ReplaceAllString(page, " ")
	page = m.block.ReplaceAllString(page, "\n")
	page = html.UnescapeString(m.tag.ReplaceAllString(page, ""))
	return strings.TrimSpace(m.blankLines.ReplaceAllString(page, "\n\n"))
}
