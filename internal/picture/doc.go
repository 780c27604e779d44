// Package picture decodes images within bounds of memory and time, and scales them down to a size.
// The bytes of an image come from agents and users and are not trusted. The package must not know
// models, screens or sessions.
package picture
