// Package config owns the two configuration files, JSON read strictly: the user's, with preferences
// for all verbs, and the server's, which serve takes with --config. It owns their formats, where
// the user's is, and the checks of their values. It must not know flags or what the values are used
// for.
package config
