// Package redact masks the values of Secrets in what people are shown.
//
// [Values] are learned from Secrets, and from what is written to Secrets. They are then
// found in any text, object or error, in the spellings that rules and errors give them:
// plain, in any case, base64, quoted by JSON, Go or YAML up to three times, escaped as in addresses, line by line. Each is replaced where it stands,
// so that the rest of the text stays readable. What takes a value apart, such as a rule that
// shows every second character of it, is not seen through.
//
// Some values are not looked for: those of fewer than four bytes, words such as true and
// null that are found everywhere, the first and last line of PEM, and what [Values.Except]
// names.
//
// The package is pure.
package redact
