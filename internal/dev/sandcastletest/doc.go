// Package sandcastletest is the rig of the tests of Sandcastle's dialect: a native client above a
// client codec, a native server below a server codec. A test makes the codec and plays the foreign
// end.
package sandcastletest
