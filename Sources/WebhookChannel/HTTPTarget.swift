import Curl
package import Delivery

/// Where a channel's requests go, and where they must not: a form's reach, held against what libcurl makes of it.
package struct HTTPTarget: Sendable {
    private let reach: HTTPReach
    private let target: CurlTarget

    /// A target of the reach.
    ///
    /// - Throws: ``HTTPSenderError`` when nothing could ever be sent there.
    package init(_ reach: HTTPReach) throws(HTTPSenderError) {
        self.reach = reach
        do throws(CurlTarget.Refusal) {
            target = try CurlTarget(reach.url.text, host: reach.url.host, rule: reach.rule) {
                reach.mayConnect(to: $0)
            }
        } catch {
            switch error {
            case .notAnAddress: throw .notAnAddress
            case .addressRefused(let address): throw .addressRefused(address)
            }
        }
    }

    /// Scheme, host and port, which is all of the address that is ever shown.
    package var shown: String { reach.url.shown }

    /// Asked at connect, of the very address.
    var addressGuard: AddressGuard { target.addressGuard }

    /// Whether `url` leads to the same host, in the same scheme and by the same port.
    func isSameHost(_ url: String) -> Bool { target.isSameHost(url) }

    /// How long the parts of an attempt may take.
    var timeouts: CurlTimeouts { CurlTimeouts(connect: reach.connectTimeout, total: reach.timeout) }
}
