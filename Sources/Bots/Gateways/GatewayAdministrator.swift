package import GatewayClient
package import OpenClaw
import Timeline

/// Has gateways show and change their own jobs.
package struct GatewayAdministrator: Sendable {
    /// Why a gateway did not do it.
    package struct Refusal: Error, Hashable, Sendable {
        /// One sentence without a full stop.
        package let text: String
        /// What to do about it.
        package let hint: String?
        /// Whether it may have been done all the same.
        package let isUnknown: Bool
    }

    private let links: GatewayPool
    /// How long a connection is waited for.
    private static let patience = Duration.seconds(10)

    /// One that asks the gateways of the pool.
    package init(_ links: GatewayPool) { self.links = links }

    /// What the jobs of the bot's gateway are now.
    package func look(_ bot: String, at place: String) async throws(Refusal) -> GatewayLook {
        guard let link = links.link(of: bot) else { throw Self.missing(bot) }
        guard await link.online(within: Self.patience) != nil else {
            throw await Self.refusal(of: link, bot, place)
        }
        do throws(GatewayLink.CallFailure) {
            return try await link.look()
        } catch {
            throw Self.refusal(error, bot, place)
        }
    }

    /// Enables or disables a job of the bot's gateway, on a connection that may do that.
    package func setEnabled(
        _ isEnabled: Bool, _ job: GatewayJob, of bot: String, at place: String
    ) async throws(Refusal) {
        let outcome = await links.administrate(bot) { link async -> Result<Void, Refusal> in
            do throws(Refusal) {
                return .success(try await Self.setEnabled(isEnabled, job, over: link, bot, place))
            } catch {
                return .failure(error)
            }
        }
        guard let outcome else { throw Self.missing(bot) }
        try outcome.get()
    }

    private static func setEnabled(
        _ isEnabled: Bool, _ job: GatewayJob, over link: GatewayLink, _ bot: String, _ place: String
    ) async throws(Refusal) {
        guard let hello = await link.online(within: patience) else {
            throw await refusal(of: link, bot, place)
        }
        if let scope = hello.missingScopes(of: GatewayIdentity.administration).last {
            throw Refusal(
                text: "\(bot): the gateway at \(place) does not grant \(scope) to this device",
                hint: "openclaw devices list", isUnknown: false)
        }
        do throws(GatewayLink.CallFailure) {
            try await link.setEnabled(isEnabled, job)
        } catch {
            throw refusal(error, bot, place)
        }
    }

    private static func missing(_ bot: String) -> Refusal {
        Refusal(
            text: "\(bot): its gateway can't be asked as it is configured", hint: "belfry bot test \(bot)",
            isUnknown: false)
    }

    private static func refusal(of link: GatewayLink, _ bot: String, _ place: String) async -> Refusal {
        guard case .away(let trouble, _) = await link.state else {
            return Refusal(
                text: "\(bot): the gateway at \(place) is not connected yet", hint: "try again in a moment",
                isUnknown: false)
        }
        return Refusal(
            text: trouble.sentence(of: bot, at: place), hint: trouble.hint(of: bot), isUnknown: false)
    }

    private static func refusal(
        _ failure: GatewayLink.CallFailure, _ bot: String, _ place: String
    ) -> Refusal {
        let start = "\(bot): the gateway at \(place)"
        switch failure {
        case .away:
            return Refusal(text: "\(start) closed the connection", hint: "try again", isUnknown: true)
        case .timedOut: return Refusal(text: "\(start) did not answer", hint: "try again", isUnknown: true)
        case .tooLarge: return Refusal(text: "\(start) reads no frame as large", hint: nil, isUnknown: false)
        case .fault(let fault):
            if let scope = fault.missingScope {
                return Refusal(
                    text: "\(start) does not grant \(scope) to this device", hint: "openclaw devices list",
                    isUnknown: false)
            }
            let why = fault.message.isEmpty ? "" : ": \(fault.message)"
            return Refusal(text: "\(start) refused it (\(fault.code))\(why)", hint: nil, isUnknown: false)
        }
    }
}
