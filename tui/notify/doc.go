// Package notify signals the user outside of the screen: by desktop notifications and the bell
// of the terminal. It decides when a session needs the user. It must not change a session.
package notify
