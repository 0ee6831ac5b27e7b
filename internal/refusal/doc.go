// Package refusal says in words of ours why something is not done for good: what was asked is not in them. Whoever records
// or shows that, and the server that answers with a problem document, have the same words.
//
// What bites:
//   - Of is nil for what may pass, as package transient knows, and for what nobody foresaw: whoever has not asked whether err may
//     pass gets the words for the unforeseen from Reason.
//   - The order in Of matters: an *Error is a refusal even where what it is joined with may pass, and hides the field error that
//     it wraps; actors.ErrFaulted and actors.ErrParked are refusals only where nothing in err may pass.
//   - Reason ends in the kind's code. It is on disk in the spool's bad folder, so that a code keeps its meaning.
package refusal
