// Package proxy puts a scriptable proxy between a program and a real API server, for tests of what the program does when
// requests get lost, are late, or are answered by nobody.
//
// It numbers every request and keeps a log of them, so that a test can count what was sent, and so that a run can be
// repeated with a fault at exactly the Nth request. A [Fault] sees each request when it arrives and says what is to be
// done with it at three moments of its way: before it leaves for the API server, when the API server has answered and
// the client knows nothing of it yet, and when the client has been given the answer.
//
//	p, err := proxy.Start(ctx, cluster.RESTConfig(), proxy.Options{Fault: proxy.All(
//		proxy.On(proxy.Request.Watches, proxy.Action{Delay: 2 * time.Second}),
//		proxy.Every(7, isCreate, proxy.Action{Committed: proxy.Break}),
//	)})
//
// Whoever reaches the proxy acts with the credentials that it was started with, so it listens on the loopback only.
// Watches pass event by event, every other answer as a whole. Requests that take the connection over (exec, port-forward)
// or go on for ever (the log of a Pod, followed) are not meant to be sent through it.
package proxy
