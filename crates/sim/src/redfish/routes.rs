//! Every resource and action of a BMC, as one table.

use super::call::Privilege::{ConfigureComponents, ConfigureManager, ConfigureSelf, ConfigureUsers, Login};
use super::profile::{MediaInsertion, MediaPlace, Profile, ResetTypes};
use super::route::{Open, Route, route};
use super::{
    account_keys, accounts, bios, boot_options, chassis, controllers, drives, events, firmware, licenses, logs, managers, media, memory,
    network, nics, power, processors, resets, roles, root, sensors, sessions, storage, systems, tasks, thermal, updates, volumes,
};

/// The System comes first, because a look at it is what a watcher asks for most.
pub(super) static ROUTES: &[Route] = &[
    route("Systems/{system}").get(systems::show).patch(ConfigureComponents, systems::change),
    route("").get(root::service_root).open(Open::Reading),
    route("odata").get(root::odata).open(Open::Reading),
    route("$metadata").get(root::metadata).open(Open::Reading),
    route("SessionService").get(sessions::service).patch(ConfigureManager, sessions::change_service),
    route("SessionService/Sessions").get(sessions::collection).post(Login, sessions::log_in).open(Open::Creating),
    route("SessionService/Sessions/{}").get(sessions::show).delete(ConfigureSelf, sessions::log_out),
    route("AccountService").get(accounts::service),
    route("AccountService/Accounts").get(accounts::collection).post(ConfigureUsers, accounts::create),
    route("AccountService/Accounts/{}").get(accounts::show).patch(ConfigureSelf, accounts::change).delete(ConfigureUsers, accounts::delete),
    route("AccountService/Accounts/{}/Keys")
        .get(account_keys::collection)
        .post(ConfigureUsers, account_keys::create)
        .only_if(|profile| profile.offers_account_keys),
    route("AccountService/Accounts/{}/Keys/{}")
        .get(account_keys::show)
        .delete(ConfigureUsers, account_keys::delete)
        .only_if(|profile| profile.offers_account_keys),
    route("AccountService/Roles").get(roles::collection),
    route("AccountService/Roles/{}").get(roles::show),
    route("Systems").get(systems::collection),
    route("Systems/{system}/Actions/ComputerSystem.Reset").post(ConfigureComponents, resets::system),
    route("Systems/{system}/ResetActionInfo").get(resets::action_info).only_if(|profile| profile.reset_types == ResetTypes::ActionInfo),
    route("Systems/{system}/Bios").get(bios::show),
    route("Systems/{system}/Bios/Settings").get(bios::settings).patch(ConfigureComponents, bios::change),
    route("Systems/{system}/Bios/Actions/Bios.ResetBios").post(ConfigureComponents, bios::reset),
    route("Systems/{system}/Bios/Actions/Bios.ChangePassword")
        .post(ConfigureComponents, bios::change_password)
        .only_if(|profile| profile.has_dead_action),
    route("Systems/{system}/BootOptions").get(boot_options::collection).only_if(|profile| profile.offers_boot_options),
    route("Systems/{system}/BootOptions/{}").get(boot_options::show).only_if(|profile| profile.offers_boot_options),
    route("Systems/{system}/Processors").get(processors::collection),
    route("Systems/{system}/Processors/{}").get(processors::show),
    route("Systems/{system}/Memory").get(memory::collection),
    route("Systems/{system}/Memory/{}").get(memory::show),
    route("Systems/{system}/EthernetInterfaces").get(nics::collection),
    route("Systems/{system}/EthernetInterfaces/{}").get(nics::show),
    route("Systems/{system}/Storage").get(storage::collection),
    route("Systems/{system}/Storage/{storage}").get(storage::show),
    route("Systems/{system}/Storage/{storage}/Actions/Storage.ResetToDefaults").post(ConfigureComponents, storage::reset),
    route("Systems/{system}/Storage/{storage}/Controllers").get(controllers::collection),
    route("Systems/{system}/Storage/{storage}/Controllers/{}").get(controllers::show),
    route("Systems/{system}/Storage/{storage}/Drives/{}").get(drives::show),
    route("Systems/{system}/Storage/{storage}/Volumes").get(volumes::collection).post(ConfigureComponents, volumes::create),
    route("Systems/{system}/Storage/{storage}/Volumes/{}").get(volumes::show).delete(ConfigureComponents, volumes::delete),
    route("Systems/{system}/VirtualMedia").get(media::collection).only_if(is_media_at_system),
    route("Systems/{system}/VirtualMedia/{}").get(media::show).only_if(is_media_at_system),
    route("Systems/{system}/VirtualMedia/{}/Actions/VirtualMedia.InsertMedia")
        .post(ConfigureComponents, media::insert)
        .only_if(is_media_at_system),
    route("Systems/{system}/VirtualMedia/{}/Actions/VirtualMedia.EjectMedia")
        .post(ConfigureComponents, media::eject)
        .only_if(is_media_at_system),
    route("Managers").get(managers::collection),
    route("Managers/{manager}").get(managers::show),
    route("Managers/{manager}/Actions/Manager.Reset").post(ConfigureManager, resets::manager),
    route("Managers/{manager}/EthernetInterfaces").get(network::interfaces),
    route("Managers/{manager}/EthernetInterfaces/{}").get(network::interface),
    route("Managers/{manager}/NetworkProtocol").get(network::protocol),
    route("Managers/{manager}/VirtualMedia").get(media::collection),
    route("Managers/{manager}/VirtualMedia/{}").get(media::show).only_if(is_media_inserted_by_action),
    route("Managers/{manager}/VirtualMedia/{}")
        .get(media::show)
        .patch(ConfigureManager, media::change)
        .only_if(|profile| profile.media_insertion == MediaInsertion::Patch),
    route("Managers/{manager}/VirtualMedia/{}/Actions/VirtualMedia.InsertMedia")
        .post(ConfigureManager, media::insert)
        .only_if(is_media_inserted_by_action),
    route("Managers/{manager}/VirtualMedia/{}/Actions/VirtualMedia.EjectMedia")
        .post(ConfigureManager, media::eject)
        .only_if(is_media_inserted_by_action),
    route("Managers/{manager}/LogServices").get(logs::services),
    route("Managers/{manager}/LogServices/{log}").get(logs::service),
    route("Managers/{manager}/LogServices/{log}/Entries").get(logs::entries),
    route("Managers/{manager}/LogServices/{log}/Entries/{}").get(logs::entry),
    route("Chassis").get(chassis::collection),
    route("Chassis/{chassis}").get(chassis::show),
    route("Chassis/{chassis}/Sensors").get(sensors::collection),
    route("Chassis/{chassis}/Sensors/{}").get(sensors::show),
    route("Chassis/{chassis}/PowerSubsystem").get(power::show),
    route("Chassis/{chassis}/PowerSubsystem/PowerSupplies").get(power::supplies),
    route("Chassis/{chassis}/PowerSubsystem/PowerSupplies/{}").get(power::supply),
    route("Chassis/{chassis}/ThermalSubsystem").get(thermal::show),
    route("Chassis/{chassis}/ThermalSubsystem/Fans").get(thermal::fans),
    route("Chassis/{chassis}/ThermalSubsystem/Fans/{}").get(thermal::fan),
    route("UpdateService").get(updates::show),
    route("UpdateService/Actions/UpdateService.SimpleUpdate").post(ConfigureManager, updates::simple_update),
    route("UpdateService/FirmwareInventory").get(firmware::collection),
    route("UpdateService/FirmwareInventory/{}").get(firmware::show),
    route("LicenseService").get(licenses::service).only_if(|profile| profile.license.is_some()),
    route("LicenseService/Licenses").get(licenses::collection).only_if(|profile| profile.license.is_some()),
    route("LicenseService/Licenses/{}").get(licenses::show).only_if(|profile| profile.license.is_some()),
    route("TaskService").get(tasks::service),
    route("TaskService/Tasks").get(tasks::collection),
    route("TaskService/Tasks/{}").get(tasks::show),
    route("TaskService/TaskMonitors/{}").get(tasks::monitor),
    route("EventService").get(events::service),
    route("EventService/SSE").get(events::stream).only_if(|profile| profile.offers_events),
];

fn is_media_inserted_by_action(profile: &Profile) -> bool {
    profile.media_insertion == MediaInsertion::Action
}

fn is_media_at_system(profile: &Profile) -> bool {
    profile.media_place == MediaPlace::SystemAndManager
}
