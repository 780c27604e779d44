// Package tuitest owns what the tests of the screen share: recorded sessions, scenes, histories,
// keys, random events and golden screens.
package tuitest
