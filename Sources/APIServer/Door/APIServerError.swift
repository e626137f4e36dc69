import Host
import NIOCore

/// Why the door could not be opened.
package enum APIServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address could not be listened on.
    case listen(address: String, detail: String)
    /// The socket's mode or group could not be set.
    case access(path: String, detail: String)

    /// One sentence for people.
    package var description: String {
        switch self {
        case .listen(let address, let detail): "can't listen on \(address) (\(detail))"
        case .access(let path, let detail): "can't set who may use \(path) (\(detail))"
        }
    }
}

extension APIServerError {
    /// Why the address can't be had, in the system's words where it is the system that refused.
    static func listening(on address: String, _ error: any Error) -> APIServerError {
        let code = (error as? IOError)?.errnoCode
        return .listen(address: address, detail: code.map(errorText) ?? "\(error)")
    }
}
