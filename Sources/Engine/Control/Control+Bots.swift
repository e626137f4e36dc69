import Ledger
package import Performing
import Prompting
import Timeline
import Tracking

extension Control {
    /// Tests a bot step by step, and with `asks` has it reply; what that shows of the bot is recorded.
    ///
    /// One that nobody described has no provider.
    package func test(bot name: String, asks: Bool) async throws(EngineError) -> BotTestResult {
        var result = BotTestResult()
        guard let contact = activeConfiguration.configuration.bots[name]?.contact else {
            result.note(
                .configuration, .failed, "it has no provider", hint: "set bots.\(name).backend")
            return result
        }
        if let fault = contact.fault {
            result.note(.configuration, .failed, fault, hint: "then load it again with: belfry reload")
            return result
        }
        var refusal: AttemptFault?
        if asks {
            do throws(AttemptFault) { _ = try await desk.bot(name) } catch { refusal = error }
        }
        result = await testBot(name, contact, asks && refusal == nil)
        if result.isGood, let refusal {
            result.note(.reply, .failed, String(refusal.text.dropFirst(name.count + 2)))
        }
        try await record(result, of: name)
        return result
    }

    private func record(_ result: BotTestResult, of name: String) async throws(EngineError) {
        let outcome: BotReply.Outcome
        if let fault = result.fault {
            outcome = .failed(fault.reason, fault.text)
        } else if result.whole != nil {
            outcome = .replied(first: result.firstWord, whole: result.whole)
        } else if result.hasAnswered {
            outcome = .answered
        } else {
            return
        }
        let now = clock.now
        let reply = BotReply(
            bot: name, month: desk.month(of: now).text, at: now, usage: result.usage, outcome: outcome)
        try await commit([.recordReply(reply)])
    }
}
