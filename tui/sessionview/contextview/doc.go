// Package contextview tracks how full the agent's context is and implements the page that shows it
// and compacts it.
package contextview
