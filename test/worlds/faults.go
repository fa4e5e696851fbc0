package worlds

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Fault is what happens to a request.
type Fault string

// The faults.
const (
	LostRequest Fault = "lost request" // the API server never gets it
	LostAnswer  Fault = "lost answer"  // it has carried it out
	Late        Fault = "late"         // the answer comes some seconds later
	TooMany     Fault = "429"
	Broken      Fault = "500"
	Unavailable Fault = "503"
)

var allFaults = []Fault{LostRequest, LostAnswer, Late, TooMany, Broken, Unavailable}

// Faults are those of requests, by their numbers in the life of a replica, from 1.
type Faults map[int]Fault

var errReset = errors.New("connection reset by peer")

// reset is what a client is told of a fault: it cannot tell one from the other, but who reads the transcript can.
func reset(fault Fault) error { return fmt.Errorf("%w (%s)", errReset, fault) }

// carry sends a request, and has happen to it what is to.
func (f Faults) carry(number int, r *http.Request, next http.RoundTripper) (*http.Response, error) {
	fault := f[number]
	if code, err := strconv.Atoi(string(fault)); err == nil {
		return refusal(r, code), nil
	}
	if fault == LostRequest {
		return nil, reset(fault)
	}
	out, err := next.RoundTrip(r)
	if err != nil {
		return nil, err //nolint:wrapcheck // It is that of the client.
	}
	if fault == Late {
		select {
		case <-time.After(5 * time.Second):
		case <-r.Context().Done():
			fault = LostAnswer
		}
	}
	if fault == LostAnswer {
		_ = out.Body.Close() // It is in memory.
		return nil, reset(fault)
	}
	return out, nil
}

// refusal is the answer of an API server that does not carry a request out.
func refusal(r *http.Request, code int) *http.Response {
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","code":` + strconv.Itoa(code) + `,"message":"` + http.StatusText(code) + `"}`
	out := &http.Response{
		StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewBufferString(body)), Request: r,
	}
	if code == http.StatusTooManyRequests {
		out.Header.Set("Retry-After", "2")
	}
	return out
}
