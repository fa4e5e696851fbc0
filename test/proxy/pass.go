package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

// passage is a request under way.
type passage struct {
	Request
	action Action
}

// underway is the key of the passage in the context of a request.
type underway struct{}

// ServeHTTP implements [http.Handler].
func (p *Proxy) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	passing, ok := p.arrived(request)
	if !ok {
		panic(http.ErrAbortHandler)
	}
	defer p.active.Done()
	// Whether the client gives up is seen only once all of the request is here.
	body, err := io.ReadAll(request.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	ctx := request.Context()
	if err := passing.action.Before.do(ctx); err != nil {
		fail(w, err)
		return
	}
	p.pass.ServeHTTP(w, request.WithContext(context.WithValue(ctx, underway{}, passing)))
	_ = http.NewResponseController(w).Flush() // Answered comes after all of the answer.
	_ = passing.action.Answered.do(ctx)
}

// arrived numbers a request and asks what to do with it. Once the proxy is stopped there is nothing to do, and Stop does
// not wait for what comes after it.
func (p *Proxy) arrived(request *http.Request) (*passage, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopped {
		return nil, false
	}
	p.active.Add(1)
	entry := Classify(request)
	entry.Number = len(p.requests) + 1
	p.requests = append(p.requests, entry)
	passing := &passage{Request: entry}
	if p.fault != nil {
		passing.action = p.fault(entry)
	}
	return passing, true
}

// answered is called when the API server has answered, and so has stored what it was asked to. Of a watch, that is only
// the head of the answer.
func (p *Proxy) answered(response *http.Response) error {
	ctx := response.Request.Context()
	passing, ok := ctx.Value(underway{}).(*passage)
	if !ok {
		return errBroken
	}
	if !passing.Watches() {
		if err := complete(response); err != nil {
			return err
		}
	}
	p.note(passing.Number, func(r *Request) { r.Code = response.StatusCode })
	if err := passing.action.Committed.do(ctx); err != nil {
		p.note(passing.Number, func(r *Request) { r.Faulted = true })
		return err
	}
	if passing.action.Delay > 0 {
		response.Body = delay(ctx, response.Body, passing.action.Delay)
	}
	return nil
}

// complete waits for the whole of an answer and says how long it is, so that the client knows when it has all of it.
func complete(response *http.Response) error {
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("reading the answer of the API server: %w", err)
	}
	response.Body = io.NopCloser(bytes.NewReader(body))
	response.ContentLength = int64(len(body))
	response.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// note adds to the log what became of a request.
func (p *Proxy) note(number int, change func(*Request)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.requests[number-1])
}

// fail tells the client of an error. An API server that is not there is told by a connection that breaks.
func fail(w http.ResponseWriter, err error) {
	status := code(err)
	if status == 0 {
		panic(http.ErrAbortHandler)
	}
	http.Error(w, err.Error(), status)
}
