// Package config owns the two configuration files, JSON read strictly: the user's, with defaults
// for all verbs, and the server's, for serve --config. It owns their formats, the path of the
// user's file, and the checks of their values. It must not know flags or how the values are used.
package config
