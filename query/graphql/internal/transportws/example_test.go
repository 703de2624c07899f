package transportws_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"time"

	"github.com/coder/websocket"

	"github.com/stoa-go/stoa/query/graphql/internal/transportws"
)

// greeter responds to each operation with the same result.
type greeter struct{}

func (greeter) Init(ctx context.Context, _ []byte) (context.Context, time.Time, error) {
	return ctx, time.Time{}, nil
}

func (greeter) Operate(context.Context, []byte) transportws.Operation {
	return transportws.Operation{Results: func(yield func([]byte, error) bool) {
		yield([]byte(`{"data":{"hello":"world"}}`), nil)
	}}
}

func ExampleNew() {
	server := httptest.NewServer(transportws.New(greeter{}, &transportws.Options{Wait: time.Minute}))
	defer server.Close()

	ctx := context.Background()
	client, _, err := websocket.Dial(ctx, server.URL,
		&websocket.DialOptions{Subprotocols: []string{transportws.Protocol}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.CloseNow()
	client.Write(ctx, websocket.MessageText, []byte(`{"type":"connection_init"}`))
	_, message, _ := client.Read(ctx)
	fmt.Println(string(message))
	client.Write(ctx, websocket.MessageText, []byte(
		`{"id":"1","type":"subscribe","payload":{"query":"{ hello }"}}`))
	for range 2 {
		_, message, _ := client.Read(ctx)
		fmt.Println(string(message))
	}
	// Output:
	// {"type":"connection_ack"}
	// {"id":"1","type":"next","payload":{"data":{"hello":"world"}}}
	// {"id":"1","type":"complete"}
}
