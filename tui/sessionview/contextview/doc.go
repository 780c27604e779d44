// Package contextview implements the page that shows how full the agent's context is and compacts it.
package contextview
