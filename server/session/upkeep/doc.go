// Package upkeep bounds what a store of sessions holds: it removes unused sessions by a retention and
// refuses growth while the store is larger than it may be.
//
// It must not know how a session is removed.
package upkeep
