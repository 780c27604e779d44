// Package review implements the view in which a user reads the changes of files: the list of files,
// the changes in one column or side by side, and comments on lines. It records which lines were on
// the screen and decides nothing. It must not know requests, sessions or screens.
package review
