// Package codectest is the base of the rigs of the dialects' tests: a native client above a client
// codec, a native server below a server codec, time and ids. It knows no dialect; the rig of a
// dialect adds its frames.
package codectest
