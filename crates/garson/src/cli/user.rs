//! `garson user`: people who sign in to the panel, for operators.

use super::account::{given_or_made, show_password};
use super::command::{AccountArgs, CommandError, Outcome, failed, with_app};
use super::output::Output;
use crate::config::Settings;
use crate::flow::By;
use crate::flow::admin::users::NewUser;
use crate::flow::admin::{accounts, invitations, openid, second_factor, user_passwords, users};
use crate::flow::read::operator;
use clap::Subcommand;
use garson_core::channel::Language;
use garson_core::id::UserId;
use garson_core::permission::RestaurantScope;
use garson_core::role::Role;
use serde_json::json;
use std::path::PathBuf;

#[derive(Subcommand)]
pub enum UserCommand {
    /// List the users of an account
    List {
        #[command(flatten)]
        account: AccountArgs,
        #[command(flatten)]
        output: Output,
    },
    /// Invite a person to an account, for all restaurants; prints the link unless it is sent by e-mail
    Invite {
        /// The e-mail address of the account
        #[arg(long)]
        account: String,
        /// The person's e-mail address
        #[arg(long)]
        email: String,
        /// owner, manager, shift, accountant, developer or read-only
        #[arg(long, default_value = "owner")]
        role: String,
        /// The person's name
        #[arg(long, default_value = "")]
        name: String,
        /// The person's language: tr or en
        #[arg(long, default_value = "tr")]
        language: String,
        #[command(flatten)]
        output: Output,
    },
    /// Set a new password for a user; ends all sessions of the user
    ResetPassword {
        /// The user's e-mail address
        #[arg(long)]
        email: String,
        /// A file whose first line is the password; - reads standard input. Without it, one is generated and printed
        #[arg(long, value_name = "FILE")]
        password_file: Option<PathBuf>,
        #[command(flatten)]
        output: Output,
    },
    /// Remove the second factor of a user who has lost it
    DisableTwoFactor {
        /// The user's e-mail address
        #[arg(long)]
        email: String,
        #[command(flatten)]
        output: Output,
    },
    /// Forget who a user is for the OpenID Connect provider; the next sign-in with the e-mail address connects the identity
    ForgetOpenid {
        /// The user's e-mail address
        #[arg(long)]
        email: String,
        #[command(flatten)]
        output: Output,
    },
}

pub fn run(settings: &Settings, command: UserCommand) -> Outcome {
    with_app(settings, |app| async move {
        match command {
            UserCommand::List { account, output } => {
                let account = account.find(&app).await?;
                let mut list = output.list(["id", "e-mail", "role", "state", "second factor", "name"]);
                for user in users::list(&app, account.id).await.map_err(failed)? {
                    let state = match (user.is_disabled, user.has_accepted()) {
                        (true, _) => "disabled",
                        (false, true) => "active",
                        (false, false) => "invited",
                    };
                    let shown = json!({
                        "userId": user.id, "email": user.email, "name": user.name, "role": user.role,
                        "state": state, "hasTwoFactor": user.has_two_factor, "lastSignInAt": user.last_sign_in_at,
                    });
                    let cells = [
                        user.id.to_string(),
                        user.email,
                        user.role.as_str().to_owned(),
                        state.to_owned(),
                        if user.has_two_factor { "on" } else { "off" }.to_owned(),
                        user.name,
                    ];
                    list.row(cells, &shown);
                }
            }
            UserCommand::Invite {
                account,
                email,
                role,
                name,
                language,
                output,
            } => {
                let account = accounts::by_email(&app, &account).await.map_err(failed)?;
                let role = Role::named(&role).ok_or_else(|| {
                    let roles = Role::ALL.map(Role::as_str).join(", ");
                    CommandError(format!("{role} is not a role; there are: {roles}"))
                })?;
                let language = Language::named(&language).ok_or_else(|| {
                    CommandError(format!("{language} is not a language; there are: tr, en"))
                })?;
                let new = NewUser {
                    email,
                    name,
                    language,
                    role,
                    restaurants: RestaurantScope::All,
                };
                let running = operator::server_addresses(&app).await.map_err(failed)?;
                let listens = running
                    .first()
                    .map_or_else(|| app.settings.listen.clone(), ToString::to_string);
                let (id, base) = (UserId::at(app.now()), format!("http://{listens}"));
                let by = By::operator(account.id, "user invite");
                let invited = invitations::invite(&app, by, &account, id, new, &base)
                    .await
                    .map_err(failed)?;
                let link = invited.link.as_ref().map(|link| link.expose());
                let text = match link {
                    Some(link) => format!("{link}   (shown this once; valid for 7 days)"),
                    None => "sent by e-mail".to_owned(),
                };
                let user = invited.user;
                output.result(
                    format!("User      {}  {}\nLink      {text}", user.id, user.email),
                    &json!({ "userId": user.id, "email": user.email, "link": link }),
                );
            }
            UserCommand::ResetPassword {
                email,
                password_file,
                output,
            } => {
                let user = users::by_email(&app, &email).await.map_err(failed)?;
                let (password, made) = given_or_made(password_file.as_deref())?;
                user_passwords::reset(&app, "user reset-password", &user, password)
                    .await
                    .map_err(failed)?;
                show_password(output, &user.email, made.as_deref());
            }
            UserCommand::DisableTwoFactor { email, output } => {
                let user = users::by_email(&app, &email).await.map_err(failed)?;
                let by = By::operator(user.account_id, "user disable-two-factor");
                second_factor::remove(&app, by, &user).await.map_err(failed)?;
                output.result(
                    "two factors are off",
                    &json!({ "userId": user.id, "hasTwoFactor": false }),
                );
            }
            UserCommand::ForgetOpenid { email, output } => {
                let user = users::by_email(&app, &email).await.map_err(failed)?;
                let by = By::operator(user.account_id, "user forget-openid");
                openid::forget(&app, by, &user).await.map_err(failed)?;
                output.result(
                    "the identity is forgotten",
                    &json!({ "userId": user.id, "hasOpenid": false }),
                );
            }
        }
        Ok(())
    })
}
