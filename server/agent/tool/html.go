package tool

import (
	"html"
	"regexp"
	"strings"
)

var (
	hiddenHTML = regexp.MustCompile(
		`(?is)<!--.*?-->|<script\b.*?</script\s*>|<style\b.*?</style\s*>|<svg\b.*?</svg\s*>`)
	blockHTML  = regexp.MustCompile(`(?i)</?(p|div|br|li|tr|h[1-6]|ul|ol|table|section|article|pre|blockquote)\b[^>]*>`)
	tagHTML    = regexp.MustCompile(`<[^>]*>`)
	blankLines = regexp.MustCompile(`[ \t\r]*\n\s*\n\s*`)
)

// plainText returns the text of a page for a model, without tags. It is no parser: what is left of
// broken markup stays.
func plainText(page string) string {
	page = hiddenHTML.ReplaceAllString(page, " ")
	page = blockHTML.ReplaceAllString(page, "\n")
	page = html.UnescapeString(tagHTML.ReplaceAllString(page, ""))
	return strings.TrimSpace(blankLines.ReplaceAllString(page, "\n\n"))
}
