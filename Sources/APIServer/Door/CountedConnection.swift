import HummingbirdCore
import Logging
import NIOCore

/// A connection of a door: served over HTTP/1.1, or refused where there are too many.
struct CountedConnection: ServerChildChannel {
    typealias Value = HTTP1Channel.Value

    let http: HTTP1Channel
    let count: ConnectionCount
    let patience: Duration
    /// The whole answer to a connection that is one too many.
    let refusal: [UInt8]

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let place = count.open(channel)
        channel.closeFuture.whenComplete { [count] _ in count.close(place, channel) }
        if place != .request {
            let handler = RefusingHandler(refusal, patience: place == .refusal ? patience : .zero)
            do {
                try channel.pipeline.syncOperations.addHandler(handler)
            } catch {
                return channel.eventLoop.makeFailedFuture(error)
            }
        }
        return http.setup(channel: channel, logger: logger).map { [count] value in
            count.setUp()
            return value
        }
    }

    func handle(value: Value, logger: Logger) async {
        count.serve()
        await http.handle(value: value, logger: logger)
    }
}

/// Answers a connection at its start, whatever it is about to ask, and closes it.
///
/// It stays open until something was asked, or `patience` is over: who writes to a connection that is closed already
/// may never read the answer.
private final class RefusingHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: [UInt8]
    private let patience: Duration

    init(_ answer: [UInt8], patience: Duration) {
        self.answer = answer
        self.patience = patience
    }

    func channelActive(context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: answer)), promise: nil)
        context.fireChannelActive()
        guard patience > .zero else { return context.close(promise: nil) }
        context.channel.close(after: patience)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.close(promise: nil)
    }
}

extension Channel {
    /// Closes the connection after `patience`, unless what is returned is cancelled before.
    @discardableResult
    func close(after patience: Duration) -> Scheduled<Void> {
        eventLoop.scheduleTask(in: TimeAmount(patience)) { self.close(promise: nil) }
    }
}
