package telemetry

import "testing"

func TestLoopback(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		want   bool
	}{
		"127.0.0.1:8081":          {reason: "The usual one.", want: true},
		"127.9.9.9:0":             {reason: "All of the network is.", want: true},
		"[::1]:8081":              {reason: "And so is the newer one.", want: true},
		"[::1%lo]:8081":           {reason: "A zone changes nothing.", want: true},
		"[::ffff:127.0.0.1]:8081": {reason: "Written as the newer one.", want: true},
		"localhost:8081":          {reason: "The name that is kept for it.", want: true},
		":8081":                   {reason: "Every interface."},
		"0.0.0.0:8081":            {reason: "Every interface."},
		"[::]:8081":               {reason: "Every interface."},
		"10.0.0.7:8081":           {reason: "Others can reach it."},
		"[fe80::1%eth0]:8081":     {reason: "Others on the link can."},
		"localhost.example:8081":  {reason: "A name may be of any address."},
		"127.0.0.1":               {reason: "Not an address to listen on."},
		"":                        {reason: "None."},
	}
	for address, tc := range cases {
		if got := Loopback(address); got != tc.want {
			t.Errorf("%q: want %v, got %v. %s", address, tc.want, got, tc.reason)
		}
	}
}
