// Package ui provides the components that every screen is built from: themes and styles, text
// fitted to a width in cells, text input, pager, menu, form, overlay stack, status message and
// clipboard. It must not know sessions or servers.
package ui
