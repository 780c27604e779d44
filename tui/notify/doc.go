// Package notify owns the signals that reach the user outside of the screen: the terminal's title,
// desktop notifications and the bell. It decides when a session needs the user, and must not change
// the session.
package notify
