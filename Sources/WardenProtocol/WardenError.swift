package import Host
import Timeline

/// What goes wrong between daemon and warden.
package enum WardenError: Error, Hashable {
    /// A frame that is longer than the limit of 4 MiB, or empty.
    case badFrameLength(Int)
    /// A frame ended inside a field, or a field had a form that does not exist.
    case brokenField
    /// A message without a field it cannot do without.
    case missingField(kind: UInt8, number: Int)
    /// A key that cannot name a file, or a text that is not UTF-8.
    case badValue(kind: UInt8, number: Int)
    /// The other side spoke before it said hello, or said hello twice.
    case outOfOrder
    /// No warden answered, and none was to be launched or the launched one gave up, saying `text`.
    case noWarden(text: String)
    /// The other side closed the connection.
    case hungUp
    /// The other side did not answer in time; see ``ClientConnection/patience``.
    case silent
    /// The machine refused.
    case host(HostError)
}

extension WardenError: CustomStringConvertible {
    /// One sentence for a person, without a full stop.
    package var description: String {
        switch self {
        case .badFrameLength(let length): "a frame of \(length) bytes"
        case .brokenField: "a frame that breaks off inside a field"
        case .missingField(let kind, let number): "a message of kind \(kind) without its field \(number)"
        case .badValue(let kind, let number): "a message of kind \(kind) with an unusable field \(number)"
        case .outOfOrder: "a message out of order"
        case .noWarden(let text): "no warden: \(text)"
        case .hungUp: "the warden closed the connection"
        case .silent: "the warden did not answer for \(ClientConnection.patience.milliseconds / 1000) s"
        case .host(let error): "\(error)"
        }
    }
}
