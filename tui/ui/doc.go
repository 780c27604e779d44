// Package ui owns the parts that every screen is drawn with: themes and styles, text that fits a
// width in cells, the editor line, the pager, the menu, forms, the stack of overlays, the status
// text and the clipboard. It must not know of sessions or servers.
package ui
