// Package terminaltest proves the screen in a real terminal: tmux runs the built programDir, keys go in, and what stands on the screen is
// looked at, the whole way that a person takes through a session. It must not look at anything that a person cannot see.
//
// Its tests are behind the build tag walk, since they need tmux. Without it they fail. Nothing of the project may import this
// package.
package terminaltest
