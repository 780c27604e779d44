// Package terminaltest tests the TUI in a real terminal: tmux runs the built program, the tests
// send keys and read the screen. They inspect only what a user can see.
//
// The tests are behind the build tag terminal. They need tmux and fail without it. No other package
// may import this package.
package terminaltest
