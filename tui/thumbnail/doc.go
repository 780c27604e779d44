// Package thumbnail draws images in the cells of a terminal. It decodes them within bounds of memory
// and time, reduces them, and draws them with half blocks. The bytes of an image come from agents and
// are not trusted. The package must not know sessions, screens or Bubble Tea.
package thumbnail
