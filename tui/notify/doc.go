// Package notify signals the user outside of the screen: by the terminal's progress bar, desktop
// notifications and the bell. It decides when a session needs the user. It must not change a
// session.
package notify
