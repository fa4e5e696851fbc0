package redact

// Error returns an error that says the same without the values, and wraps the other one:
// errors.Is and errors.As find what they would find in that. Who takes a text from what
// errors.As finds has to mask it. What has nothing to mask is returned as it is.
func (v *Values) Error(err error) error {
	if err == nil || v.Empty() {
		return err
	}
	told := err.Error()
	if shown := v.Text(told); shown != told {
		return &maskedError{text: shown, err: err}
	}
	return err
}

// maskedError has another text than what it wraps.
type maskedError struct {
	text string
	err  error
}

// Error implements error.
func (e *maskedError) Error() string { return e.text }

// Unwrap returns the error whose text is not shown.
func (e *maskedError) Unwrap() error { return e.err }
