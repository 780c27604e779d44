// Package settings implements the overlays that change how a session is configured: the agent's
// settings, the rules and the name.
package settings
