#include "ui/actions/owner_controller.h"

#include <utility>

namespace lunagrad {

OwnerController::OwnerController(Session& session, Actions& actions, std::function<void()> wake)
    : session_(session), actions_(actions), walked_(std::move(wake)) {
  actions_.add({"find_owners", "", [this](const ActionArguments&) {
                  session_.find_leaks([walked = walked_.ask()] { walked({}); });
                }});
  actions_.add({"watch_owners", "on", [this](const ActionArguments& given) {
                  watching_ = given.flag(0, "on");
                  session_.watch_leaks(watching_);
                }});
}

}  // namespace lunagrad
